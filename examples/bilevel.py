"""Choose hyperparameters by gradients of the held-out loss, through the training that they steer.

    python examples/bilevel.py

Each feature of a ridge regression gets a penalty of its own. The inner problem, the training loss, is
minimised by SciPy; the outer problem, the loss on held-out data, is a function of the penalties whose
gradient goes through the inner solution by its optimality condition (Bengio, "Gradient-based optimization
of hyperparameters", 2000). SciPy minimises that, too. The gradient is checked against the closed form, and
a logistic regression, which has none, against differences.
"""

import numpy as np
import scipy.optimize

from funcgrad import custom_minimizer, grad, hessian, value_and_grad

rng = np.random.default_rng(0)
FEATURES, USEFUL = 20, 4
truth = np.where(np.arange(FEATURES) < USEFUL, 1.0, 0.0)
x_train, x_held = rng.normal(size=(40, FEATURES)), rng.normal(size=(200, FEATURES))
y_train, y_held = x_train @ truth + rng.normal(size=40), x_held @ truth + rng.normal(size=200)


def trained(loss):
    """The weights that minimise a loss."""

    def solve(loss, start):
        options = {"jac": True, "hess": hessian(loss), "method": "trust-exact", "tol": 1e-9}
        return scipy.optimize.minimize(value_and_grad(loss), start, **options).x

    return custom_minimizer(loss, np.zeros(FEATURES), solve)


def ridge(log_penalties):
    def loss(w):
        return np.mean((x_train @ w - y_train) ** 2) + np.mean(np.exp(log_penalties) * w**2)

    return trained(loss)


def ridge_in_closed_form(log_penalties):
    matrix = x_train.T @ x_train / 40 + np.eye(FEATURES) * np.exp(log_penalties) / FEATURES
    return np.linalg.solve(matrix, x_train.T @ y_train / 40)


def held_out(fit):
    return lambda log_penalties: np.mean((x_held @ fit(log_penalties) - y_held) ** 2)


def logistic(log_penalty):
    signs = np.sign(y_train)

    def loss(w):
        return np.mean(np.logaddexp(0.0, -signs * (x_train @ w))) + np.exp(log_penalty) * np.sum(w**2)

    return trained(loss)


def held_out_logistic(log_penalty):
    return np.mean(np.logaddexp(0.0, -np.sign(y_held) * (x_held @ logistic(log_penalty))))


def main():
    start = np.zeros(FEATURES)
    through_scipy = grad(held_out(ridge))(start)
    directly = grad(held_out(ridge_in_closed_form))(start)
    error = np.max(np.abs(through_scipy - directly)) / np.max(np.abs(directly))
    print(f"gradient through scipy.optimize.minimize, beside the closed form: {error:.1e}")
    assert error < 1e-6

    bounds, options = [(-5.0, 8.0)] * FEATURES, {"maxiter": 20}
    found = scipy.optimize.minimize(
        value_and_grad(held_out(ridge)), start, jac=True, method="L-BFGS-B", bounds=bounds, options=options
    )
    print(
        f"held-out loss: {held_out(ridge)(start):.3f} with equal penalties, {found.fun:.3f} with chosen ones"
    )
    weights = ridge(found.x)
    print(f"weights of useful features {weights[:USEFUL].round(2)}, the others at most "
          f"{np.max(np.abs(weights[USEFUL:])):.2f}")  # fmt: skip
    assert found.fun < 0.95 * held_out(ridge)(start)

    slope, step = grad(held_out_logistic)(-3.0), 1e-4
    differences = (held_out_logistic(-3.0 + step) - held_out_logistic(-3.0 - step)) / (2 * step)
    print(f"logistic regression: {slope:.6f} by its optimality condition, {differences:.6f} by differences")
    assert abs(slope - differences) < 1e-5


if __name__ == "__main__":
    main()
