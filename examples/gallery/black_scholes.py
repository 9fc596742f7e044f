"""The Greeks of a European option: how its price depends on all that it is computed from, up to third order.

Source: Hull, Options, Futures, and Other Derivatives, chapter 19, for the closed forms, and Haug, The
Complete Guide to Option Pricing Formulas, 2007, for those of higher order. The price of an American option by
a binomial tree (Cox, Ross and Rubinstein, Journal of Financial Economics 7, 1979) is differentiated, too;
without early exercise it tends to the formula.
"""

import numpy as np
from compare import agree, complex_step
from scipy.special import ndtr

from funcgrad import grad, hessian, vmap


def call_price(spot, volatility, rate, time, strike):
    total = volatility * np.sqrt(time)
    d1 = (np.log(spot / strike) + (rate + volatility**2 / 2) * time) / total
    return spot * ndtr(d1) - strike * np.exp(-rate * time) * ndtr(d1 - total)


def tree_price(spot, volatility, rate, time, strike, steps=60, american=True):
    """A put, backwards from its payoff."""
    step = time / steps
    up = np.exp(volatility * np.sqrt(step))
    probability = (np.exp(rate * step) - 1 / up) / (up - 1 / up)
    powers = np.arange(-steps, steps + 1, 2)
    value = np.maximum(strike - spot * up**powers, 0.0)
    for n in range(steps - 1, -1, -1):
        value = np.exp(-rate * step) * (probability * value[1:] + (1 - probability) * value[:-1])
        if american:
            value = np.maximum(value, strike - spot * up ** np.arange(-n, n + 1, 2))
    return value[0]


def main():
    spot, volatility, rate, time, strike = market = (105.0, 0.25, 0.03, 0.7, 100.0)
    root = np.sqrt(time)
    d1 = (np.log(spot / strike) + (rate + volatility**2 / 2) * time) / (volatility * root)
    d2 = d1 - volatility * root
    density = np.exp(-(d1**2) / 2) / np.sqrt(2 * np.pi)
    discounted = strike * np.exp(-rate * time)

    first = {
        "delta": ndtr(d1),
        "vega": spot * density * root,
        "rho": discounted * time * ndtr(d2),
        "minus theta": spot * density * volatility / (2 * root) + rate * discounted * ndtr(d2),
    }
    for (name, formula), found in zip(first.items(), grad(call_price, argnums=(0, 1, 2, 3))(*market)):
        agree(name, found, formula)

    second = hessian(call_price, argnums=(0, 1))(*market)
    gamma = density / (spot * volatility * root)
    agree("gamma", second[0][0], gamma)
    agree("vanna", second[0][1], -density * d2 / volatility)
    agree("vomma", second[1][1], first["vega"] * d1 * d2 / volatility)
    speed = grad(grad(grad(call_price)))(*market)
    agree("speed, the third derivative by the spot", speed, -gamma / spot * (d1 / (volatility * root) + 1))
    zomma = grad(grad(grad(call_price)), argnums=1)(*market)
    agree("zomma, gamma's by the volatility", zomma, gamma * (d1 * d2 - 1) / volatility)

    strikes = np.linspace(80.0, 120.0, 9)
    deltas = vmap(grad(call_price), in_axes=(None, None, None, None, 0))(*market[:4], strikes)
    expected = ndtr((np.log(spot / strikes) + (rate + volatility**2 / 2) * time) / (volatility * root))
    agree("deltas at 9 strikes, by vmap", deltas, expected)

    european = grad(lambda *m: tree_price(*m, steps=400, american=False), argnums=(0, 1))(*market)
    agree("tree of 400 steps, a put without early exercise: delta", european[0], first["delta"] - 1, 0.05)
    agree("and vega", european[1], first["vega"], 0.05)
    by_all = grad(tree_price, argnums=(0, 1, 2, 3, 4))(*market)
    by_steps = complex_step(complex_tree, np.array(market))
    agree("tree with early exercise, by complex steps", np.stack(by_all), by_steps)


def complex_tree(market):
    """The tree for complex numbers, of which the real parts decide."""
    spot, volatility, rate, time, strike = market
    steps, step = 60, time / 60
    up = np.exp(volatility * np.sqrt(step))
    probability = (np.exp(rate * step) - 1 / up) / (up - 1 / up)
    payoff = strike - spot * up ** np.arange(-steps, steps + 1, 2)
    value = np.where(payoff.real > 0, payoff, 0)
    for n in range(steps - 1, -1, -1):
        value = np.exp(-rate * step) * (probability * value[1:] + (1 - probability) * value[:-1])
        exercised = strike - spot * up ** np.arange(-n, n + 1, 2)
        value = np.where(exercised.real > value.real, exercised, value)
    return value[0]


if __name__ == "__main__":
    main()
