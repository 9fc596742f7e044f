"""Fisher's information of a generalised linear model: Poisson regression with an exposure.

Source: McCullagh and Nelder, Generalized Linear Models, 1989: with the canonical link the score is X'(y -
mu), and observed and expected information are both X' diag(mu) X. The sandwich estimator takes each row's
score.
"""

import numpy as np
from compare import agree

from funcgrad import grad, hessian, hvp, jacfwd, vmap


def log_likelihood(beta, x, y, exposure):
    log_mean = x @ beta + np.log(exposure)
    return np.sum(y * log_mean - np.exp(log_mean))


def fit(x, y, exposure, steps=12):
    """Newton's method from 0."""
    beta = np.zeros(x.shape[1])
    for _ in range(steps):
        mean = exposure * np.exp(x @ beta)
        beta = beta + np.linalg.solve(x.T @ (mean[:, None] * x), x.T @ (y - mean))
    return beta


def main():
    rng = np.random.default_rng(7)
    x = np.column_stack([np.ones(200), rng.normal(size=(200, 3))])
    exposure = rng.uniform(0.5, 2.0, 200)
    y = rng.poisson(exposure * np.exp(x @ [0.5, 0.3, -0.4, 0.1])).astype(float)

    beta = fit(x, y, exposure)
    mean = exposure * np.exp(x @ beta)
    information = x.T @ (mean[:, None] * x)
    agree("observed information", -hessian(log_likelihood)(beta, x, y, exposure), information)
    v = rng.normal(size=4)
    agree("information times vector", -hvp(log_likelihood)(beta, x, y, exposure, v), information @ v)

    rows = vmap(grad(log_likelihood), in_axes=(None, 0, 0, 0))(beta, x, y, exposure)
    agree("the score of each row, by vmap", rows, (y - mean)[:, None] * x)
    bread = np.linalg.inv(-hessian(log_likelihood)(beta, x, y, exposure))
    print("  standard errors, plain:   ", np.sqrt(np.diag(bread)).round(4))
    print("  standard errors, sandwich:", np.sqrt(np.diag(bread @ rows.T @ rows @ bread)).round(4))

    # How the estimate moves with the data, through the steps that computed it: the implicit function theorem.
    influence = jacfwd(fit, argnums=1)(x, y, exposure)
    agree("influence of each count on the estimate", influence, np.linalg.solve(information, x.T), 1e-9)

    third = jacfwd(hessian(log_likelihood))(beta, x, y, exposure)
    agree("third derivatives", third, -np.einsum("n,ni,nj,nk->ijk", mean, x, x, x))


if __name__ == "__main__":
    main()
