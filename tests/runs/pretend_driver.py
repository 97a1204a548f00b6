"""The program that the kill tests kill: ``python pretend_driver.py STORE RUNS WORKERS [EXECUTOR]``.

It imports inside the guard, as a console script should: a worker process runs this file before it
can ask the system to end it together with its parent.
"""

if __name__ == "__main__":
    from runs.pretend import main

    main()
